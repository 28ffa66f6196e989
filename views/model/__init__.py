"""Objects in, rows out: what there is to see of gangs and nodes. Pure."""
