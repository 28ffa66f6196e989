"""The documents: what they name exists, and what they should name is there."""
