"""What the admission of every kind shares: the review, the patch, the configuration and the defaults."""
