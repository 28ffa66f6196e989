"""What judges Tutti is judged here: a checker that has never failed is no evidence."""
