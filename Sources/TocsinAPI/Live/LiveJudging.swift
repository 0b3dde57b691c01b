import TocsinCore

/// An event on its way to one owner's groups.
///
/// Their filters are judged a part at a time, equal filters once for all groups that have them.
package struct LiveJudging {
    /// How much text the filters of one owner may search.
    package struct Bound: Sendable {
        /// For one event; subscriptions whose filters come to more are ended.
        package var bytesOfEvent: Int
        /// Before others have their turns.
        package var bytesOfTurn: Int

        /// What takes some milliseconds, and a fraction of one.
        package init(bytesOfEvent: Int = 16_777_216, bytesOfTurn: Int = 1_048_576) {
            self.bytesOfEvent = bytesOfEvent
            self.bytesOfTurn = bytesOfTurn
        }
    }

    /// Groups that hear of the same: of what is visible to them, what their filter lets through.
    struct Candidate {
        var visible: Predicate
        var filter: Predicate
        var groups: [LiveGroup]
    }

    /// What a part of the judging came to.
    struct Outcome {
        var wanting: [LiveGroup] = []
        /// Those whose filters would search too much.
        var refused: [LiveGroup] = []
    }

    let event: LiveEvent
    private let shown: Record
    private var rest: ArraySlice<Candidate>
    private var searchedBytes = 0
    /// What a candidate takes beside the searching, as if so many bytes were searched.
    private static let effortOfCandidate = 1024

    init(_ event: LiveEvent, among candidates: [Candidate]) {
        self.event = event
        rest = candidates[...]
        let isFiltered = candidates.contains { $0.filter != .always }
        shown = isFiltered ? event.record.withShownOwners : event.record
    }

    /// Whether all candidates have been judged.
    var isOver: Bool { rest.isEmpty }

    /// Judges candidates, one at least, until none is left or `effort`, which it lowers, is spent.
    mutating func goOn(within bound: Bound, _ effort: inout Int) -> Outcome {
        var outcome = Outcome()
        effort -= Self.effortOfCandidate
        repeat {
            guard let candidate = rest.popFirst() else { break }
            let bytes =
                event.record.searchedBytes(of: candidate.visible.searchedFields)
                + shown.searchedBytes(of: candidate.filter.searchedFields)
            guard searchedBytes + bytes <= bound.bytesOfEvent else {
                outcome.refused += candidate.groups
                continue
            }
            searchedBytes += bytes
            effort -= bytes + Self.effortOfCandidate * max(1, candidate.groups.count)
            if event.ending != nil
                || candidate.visible.matches(event.record, isGranted: event.isGranted)
                    && candidate.filter.matches(shown)
            {
                outcome.wanting += candidate.groups
            }
        } while effort > 0
        return outcome
    }
}
