"""Clusters of vectors that somebody else made of the launches, such as learned embeddings."""
