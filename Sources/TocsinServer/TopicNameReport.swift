import Logging
package import TocsinCore
import TocsinStore

/// Tells operators of names that several topics of one owner have, from before they were unique.
///
/// Such topics go on working by id; by name they are ambiguous until one is renamed or deleted.
package enum TopicNameReport {
    /// Names that are told of at once.
    static let most = 20

    /// A line for each doubled name; empty where there is none.
    static func lines(_ doubled: [DoubledTopicName]) -> [String] {
        doubled.prefix(most).map { "\($0.owner) has \($0.count) topics named \"\($0.name.prefix(64))\"" }
            + (doubled.count > most ? ["and more"] : [])
    }

    /// Writes a warning to the log where names are doubled.
    static func write(_ store: SQLStore, to logger: Logger) async {
        do throws(StoreError) {
            let doubled = try await store.read { reader throws(StoreError) in
                try reader.doubledTopicNames(limit: most + 1)
            }
            guard !doubled.isEmpty else { return }
            logger.warning(
                "several topics of one owner have the same name: they work by id; rename or delete all but one",
                metadata: [
                    "event": "topic_names_doubled", "names": "\(lines(doubled).joined(separator: "; "))",
                ]
            )
        } catch {
            logger.debug(
                "the names of topics could not be compared",
                metadata: ["event": "topic_names_unread", "reason": "\(error)"]
            )
        }
    }
}

extension OfflineStore {
    /// A line for each name that several topics of one owner have, where that may not be.
    package func doubledTopicNames() async throws(ServiceError) -> [String] {
        guard topicNamesAreUnique else { return [] }
        let doubled = try await store.reading(for: .server) { reader throws(StoreError) in
            try reader.doubledTopicNames(limit: TopicNameReport.most + 1)
        }
        return TopicNameReport.lines(doubled)
    }
}
