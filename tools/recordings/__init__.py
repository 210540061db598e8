"""Real jobs that tests look at: each is run once and kept while nothing of it changes."""
