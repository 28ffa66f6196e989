"""Objects, their versions, and who hears of changes."""
