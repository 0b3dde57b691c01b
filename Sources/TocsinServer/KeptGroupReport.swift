import Logging
import TocsinCore

/// Tells operators of groups that give something by a rule or setting, and whose makers are no
/// administrators.
///
/// A maker gets no name that is kept. A rule or setting that names the group later counts for
/// those whom its maker has put in.
enum KeptGroupReport {
    /// Groups that are told of at once.
    private static let most = 20

    /// Writes a warning to the log for each such group.
    static func write(_ groups: GroupService, to logger: Logger) async {
        do throws(ServiceError) {
            for (group, maker) in try await groups.keptGroupsOfMakers(limit: most) {
                logger.warning(
                    """
                    a rule of the model file or a setting names a group whose maker is no administrator: look at its \
                    members by `tocsin group show NAME`, or delete it
                    """,
                    metadata: [
                        "event": "kept_group_of_maker", "group": "\(group.name)", "maker": "\(maker.name)",
                        // Of each group there is a line: those of one reason would be folded.
                        "reason": "\(maker.name) has made the group \(group.name) and chosen who is in it",
                    ]
                )
            }
        } catch {
            logger.debug(
                "the makers of groups could not be looked at",
                metadata: ["event": "kept_groups_unread", "reason": "\(error)"]
            )
        }
    }
}
