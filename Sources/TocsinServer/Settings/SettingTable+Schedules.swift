/// Settings of what comes at a time of its own.
extension SettingTable {
    static let schedules: [SettingDefinition] = [
        .optional(
            "zones",
            \.server.zonesPath,
            "A folder of time zone data; the system's, /usr/share/zoneinfo, unless set."
        )
        .variable("TZDIR"),
        .integer(
            "task-reminder-hour",
            \.daily.taskReminderHour,
            0...23,
            "The hour in UTC of the daily event task-reminder, for webhooks that listen to schedule.due (docs/schedules.md)."
        )
        .variable("TASK_REMINDER_HOUR"),
        .integer("task-reminder-minute", \.daily.taskReminderMinute, 0...59, "The minute of task-reminder.")
            .variable("TASK_REMINDER_MINUTE"),
        .integer(
            "overdue-reminder-hour",
            \.daily.overdueReminderHour,
            0...23,
            "The hour in UTC of the daily event overdue-reminder, for the same webhooks."
        )
        .variable("OVERDUE_REMINDER_HOUR"),
        .integer("daily-digest-hour", \.daily.digestHour, 0...23, "The hour in UTC of the daily digest.")
            .variable("DAILY_DIGEST_HOUR"),
    ]
}
