/// The rules of time zones by their names, as the system has them.
package protocol ZoneSource: Sendable {
    /// The rules of a zone, such as `Europe/Berlin`; nil when the system has none of this name.
    func zone(named name: String) -> ZoneRules?
}

/// Knows UTC and no other zone.
struct UTCAlone: ZoneSource {
    func zone(named name: String) -> ZoneRules? { name == "UTC" ? .utc : nil }
}

/// Names of zones.
package enum ZoneName {
    /// Whether a text may name a zone: up to 64 bytes, words joined by `/`, and never a path that
    /// leaves its folder.
    package static func mayBe(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard text.utf8.count <= 64, parts.count <= 3, !ofTheMachine.contains(text) else { return false }
        return parts.allSatisfy { part in !part.isEmpty && part.allSatisfy(isAllowed) }
    }

    /// Files beside the zones that say another thing on each machine.
    private static let ofTheMachine: Set<String> = ["localtime", "posixrules", "Factory"]

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

extension ZoneSource {
    /// The zone that a client named, UTC for nil.
    package func zone(ofInput name: String?, field: String) throws(ServiceError) -> ZoneRules {
        guard let name else { return .utc }
        guard ZoneName.mayBe(name), let zone = zone(named: name) else {
            throw .badInput(
                "\(field) \"\(name.prefix(64))\" is no time zone that this server knows. Write a name of the IANA list, "
                    + "such as Europe/Berlin, America/New_York or UTC."
            )
        }
        return zone
    }
}
