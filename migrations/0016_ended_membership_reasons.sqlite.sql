-- additive: a column that older programs do not ask for.
-- Why a membership ended, for fan-outs that wait; null: the member left.

ALTER TABLE ended_memberships ADD COLUMN reason TEXT;
