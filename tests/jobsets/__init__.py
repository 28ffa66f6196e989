"""JobSets as gangs: admission and controllers."""
