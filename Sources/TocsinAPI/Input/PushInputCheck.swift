import JSON
import TocsinCore

/// Checks what a message asks of its push, so that no provider refuses it later.
enum PushInputCheck {
    private static let maximumTextBytes = 256
    private static let levels: Set<String> = ["passive", "active", "time-sensitive", "critical"]

    static func check(_ push: JSONValue?) throws(ServiceError) {
        guard let push = push?.objectValue else { return }
        for member in push {
            guard let text = member.value.stringValue else { continue }
            let isPlain = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
            guard isPlain, text.utf8.count <= maximumTextBytes else {
                throw .badRequest(
                    "push.\(member.key) must be at most \(maximumTextBytes) bytes without control characters."
                )
            }
        }
        if let badge = push["badge"]?.intValue, badge < 0 { throw .badRequest("push.badge must not be negative.") }
        if let level = push["interruptionLevel"]?.stringValue, !levels.contains(level) {
            throw .badRequest("push.interruptionLevel must be one of \(levels.sorted().joined(separator: ", ")).")
        }
    }
}
