import GraphQLTransport
import Synchronization
import TocsinCore

/// Responses of events of shared topics that groups of many owners have in common.
///
/// Each is made once and kept for a while, for the owners take turns.
final class ReadersResponses: Sendable {
    struct Key: Hashable {
        /// The event's number.
        var event: Int
        /// Of whom no part says who they are.
        var group: GroupKey
    }

    private struct State {
        var made: [Key: Task<SharedResponse, Never>] = [:]
        var order: [(key: Key, bytes: Int)] = []
        var bytes = 0
    }

    private let state = Mutex(State())
    /// Responses that are kept at most.
    private static let maximumCount = 256
    /// Bytes of their records, at most, but for the last one's.
    private static let maximumBytes = 8_388_608

    /// The response, made by the first who asks.
    func response(
        to key: Key,
        bytes: Int,
        _ make: @escaping @Sendable () async -> SharedResponse
    ) async -> SharedResponse {
        let task = state.withLock { state in
            if let known = state.made[key] { return known }
            let task = Task { await make() }
            state.made[key] = task
            state.order.append((key, bytes))
            state.bytes += bytes
            while state.order.count > Self.maximumCount || state.bytes > Self.maximumBytes, state.order.count > 1 {
                let oldest = state.order.removeFirst()
                state.made[oldest.key] = nil
                state.bytes -= oldest.bytes
            }
            return task
        }
        return await task.value
    }
}
