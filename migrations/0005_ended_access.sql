-- additive: indexes alone.
-- Whose access has ended, which a server asks for twice a second: few rows among many.

CREATE INDEX tokens_revoked ON tokens (id) WHERE revoked_at IS NOT NULL;
CREATE INDEX users_disabled ON users (id) WHERE disabled <> 0;
CREATE INDEX api_keys_revoked ON api_keys (id) WHERE revoked_at IS NOT NULL;
