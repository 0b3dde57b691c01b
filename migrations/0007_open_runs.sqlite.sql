-- additive: columns that an older program does not know; it shows no deliveries of messages that only these say are in a run.

-- The run of `deviceless_runs` that a topic's last messages are in may be longer than its row says: `run_first` is its first
-- number, and it goes up to `run_last`, which is raised together with `last_number`. So a group of messages stores no row for it.
ALTER TABLE topics ADD COLUMN run_first INTEGER;
ALTER TABLE topics ADD COLUMN run_last INTEGER;
