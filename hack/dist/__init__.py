"""What a release consists of, made so that two builds of one commit give the same bytes."""
