"""What checks and searches say of a case: findings, the verdict, the chunkings, how far a search is."""
