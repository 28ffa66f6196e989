"""From an older version of Tutti to this one and back, with gangs at every stage."""
