-- additive: tables that older programs do not ask for, and columns that they leave as they are.
-- `kind` is LOCAL or SERVICE. `managed_by` says who looks after a service account: `user:<id>` or
-- `group:<name>`. `rights_changed_at` is when the user's groups or the admin flag changed last,
-- later than the time before: whoever remembers older rights asks anew.
ALTER TABLE users ADD COLUMN kind TEXT COLLATE "C" NOT NULL DEFAULT 'LOCAL';
ALTER TABLE users ADD COLUMN admin BIGINT NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN managed_by TEXT COLLATE "C";
ALTER TABLE users ADD COLUMN last_seen_at BIGINT;
ALTER TABLE users ADD COLUMN rights_changed_at BIGINT;
CREATE INDEX users_by_rights_changed ON users (rights_changed_at) WHERE rights_changed_at IS NOT NULL;
CREATE INDEX users_admins ON users (id) WHERE admin <> 0;

-- Groups whose members are local users.
CREATE TABLE groups (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    description TEXT COLLATE "C",
    created_by TEXT COLLATE "C",
    created_at BIGINT NOT NULL
);

CREATE TABLE group_members (
    group_id TEXT COLLATE "C" NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    added_at BIGINT NOT NULL,
    PRIMARY KEY (group_id, user_id)
);
CREATE INDEX group_members_by_user ON group_members (user_id, group_id);
