// Told in words, as every game that has no drawing of its own.
