-- additive: a column that older programs leave as it is, and an index.
-- `group_maker` says whether the user may make groups, and manage those that they made. Who made a
-- group stands in its `created_by`.
ALTER TABLE users ADD COLUMN group_maker BIGINT NOT NULL DEFAULT 0;
CREATE INDEX groups_by_maker ON groups (created_by, name) WHERE created_by IS NOT NULL;
