"""What is above the pods of a gang: the kinds of parents there are, and what each of them does with its children. Pure."""
