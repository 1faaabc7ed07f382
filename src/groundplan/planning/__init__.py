"""How: a reading and a shortlist of tools become a plan, in one of several ways."""
