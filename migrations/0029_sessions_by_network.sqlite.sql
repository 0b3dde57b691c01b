-- additive: an index.
-- Whether anybody has signed in from a network, which is asked where passwords are guessed.
CREATE INDEX sessions_by_network ON sessions (network, created_at) WHERE network IS NOT NULL;
