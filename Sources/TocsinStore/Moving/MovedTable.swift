/// A table whose rows move between databases, with the columns that order and name them.
package struct MovedTable: Sendable, Hashable {
    /// The table's name in both databases.
    package let name: String
    /// The columns of its primary key.
    package let key: [String]

    /// Whether it may have rows before a dump comes in: those of a server that ran here once.
    package var maySpeakOfBefore: Bool { name == "audit_events" }

    private init(_ name: String, by key: String...) {
        self.name = name
        self.key = key
    }

    /// All that is data, those referred to before those that refer to them.
    ///
    /// `MovedTableTests` compares this with what the migrations make.
    package static let all = [
        MovedTable("topics", by: "id"),
        MovedTable("feeds", by: "owner"),
        MovedTable("messages", by: "id"),
        MovedTable("records", by: "model", "id"),
        MovedTable("incidents", by: "id"),
        MovedTable("incident_alerts", by: "incident_id", "fingerprint"),
        MovedTable("incident_entries", by: "incident_id", "number"),
        MovedTable("memberships", by: "topic_id", "user_id"),
        MovedTable("topic_reads", by: "user_id", "topic_id"),
        MovedTable("topic_grants", by: "id"),
        MovedTable("ended_grants", by: "topic_id", "subject"),
        MovedTable("left_topics", by: "topic_id", "user_id"),
        MovedTable("devices", by: "id"),
        MovedTable("fanouts", by: "message_id", "first_device"),
        MovedTable("ended_devices", by: "last_fanout", "id", "active_since"),
        MovedTable("ended_memberships", by: "topic_id", "user_id", "created_at"),
        MovedTable("deliveries", by: "message_id", "device_id"),
        MovedTable("deviceless_runs", by: "topic_id", "first_number"),
        MovedTable("webhook_events", by: "id"),
        MovedTable("users", by: "id"),
        MovedTable("tokens", by: "id"),
        MovedTable("groups", by: "id"),
        MovedTable("group_members", by: "group_id", "user_id"),
        MovedTable("left_groups", by: "user_id", "left_at", "group_name"),
        MovedTable("api_keys", by: "id"),
        MovedTable("muted_users", by: "user_id"),
        MovedTable("user_facts", by: "user_id"),
        MovedTable("timers", by: "kind", "subject"),
        MovedTable("scheduled_messages", by: "id"),
        MovedTable("user_settings", by: "user_id"),
        MovedTable("digests", by: "id"),
        MovedTable("digest_numbers", by: "user_id", "topic_id", "min_priority"),
        MovedTable("used_nonces", by: "nonce"),
        MovedTable("audit_events", by: "at", "id"),
        MovedTable("sessions", by: "id"),
        MovedTable("identities", by: "id"),
        MovedTable("integration_keys", by: "digest"),
        MovedTable("integration_secrets", by: "integration_id", "name"),
        MovedTable("integration_counts", by: "integration_id"),
        MovedTable("button_presses", by: "message_id", "button_id", "user_id"),
        MovedTable("monitor_facts", by: "monitor_id"),
        MovedTable("monitor_pings", by: "monitor_id", "number"),
        MovedTable("monitor_spells", by: "monitor_id", "began_at", "is_pause"),
    ]

    /// Tables that speak of this database alone.
    package static let staying: Set<String> = [
        "migrations", "imports", "duties", "nodes", "node_events", "audit_retention", "setup_code",
        "received_requests", "monitor_watch",
    ]

    /// The table of this name.
    package static func named(_ name: String) -> MovedTable? { all.first { $0.name == name } }
}

/// A column as both databases have it.
package struct MovedColumn: Sendable, Hashable {
    /// What its values are; nulls apart.
    package enum Kind: String, Sendable, Hashable {
        case text, integer
    }

    /// The column's name in both databases.
    package var name: String
    /// What its values are.
    package var kind: Kind

    /// A column by name and kind.
    package init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }
}
