"""docs/configuration.md: every setting of every process, from the classes that check them."""
