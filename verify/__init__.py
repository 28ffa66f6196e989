"""What judges Tutti: promises, checked by machines."""
