"""Words, stems, names, periods and lexicons: what every reader of text shares."""
