"""Words, stems, names, periods and lexicons, shared by everything that reads text."""
