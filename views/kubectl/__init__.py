"""`kubectl gang`: gangs as lists and trees, in the manner of kubectl."""
