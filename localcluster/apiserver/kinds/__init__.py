"""The kinds of objects that are built in, and what each demands."""
