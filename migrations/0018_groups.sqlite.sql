-- additive: tables that older programs do not ask for, and columns that they leave as they are.
-- `kind` is LOCAL or SERVICE. `managed_by` says who looks after a service account: `user:<id>` or
-- `group:<name>`. `rights_changed_at` is when the user's groups or the admin flag changed last,
-- later than the time before: whoever remembers older rights asks anew.
ALTER TABLE users ADD COLUMN kind TEXT NOT NULL DEFAULT 'LOCAL';
ALTER TABLE users ADD COLUMN admin INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN managed_by TEXT;
ALTER TABLE users ADD COLUMN last_seen_at INTEGER;
ALTER TABLE users ADD COLUMN rights_changed_at INTEGER;
CREATE INDEX users_by_rights_changed ON users (rights_changed_at) WHERE rights_changed_at IS NOT NULL;
CREATE INDEX users_admins ON users (id) WHERE admin <> 0;

-- Groups whose members are local users.
CREATE TABLE groups (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    description TEXT,
    created_by TEXT,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE group_members (
    group_id TEXT NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    added_at INTEGER NOT NULL,
    PRIMARY KEY (group_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX group_members_by_user ON group_members (user_id, group_id);
