"""The admission server: takes Jobs in as gangs, keeps them so, and ties their pods to their group."""
