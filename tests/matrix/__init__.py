"""What each API can ask and answer, held against every other: the tables, and the test of each of their cells."""
