/// A sign of life: `/ping/{key}…` and Uptime Kuma's `/api/push/{key}`.
package struct PingRequest: Sendable, Equatable {
    /// What it says.
    package enum Signal: Sendable, Equatable {
        /// The work is done.
        case success
        /// The work begins.
        case start
        /// The work failed; the exit status where one was said.
        case fail(exitStatus: Int?)
        /// Only something to keep.
        case log
    }

    /// Whose answers it expects.
    package enum Form: Sendable, Equatable {
        /// `/ping/…`, as healthchecks.io has it.
        case ping
        /// `/api/push/…`, as Uptime Kuma has it.
        case push
    }

    /// What became of it.
    package enum Outcome: Sendable, Equatable {
        /// It is stored.
        case taken
        /// It is stored, and its monitor was made.
        case created
        /// There is no such key or no such monitor.
        case unknown
    }

    /// Whose answers it expects.
    package var form: Form
    /// The monitor's key.
    package var key: String
    /// The monitor among those of one key; nil: the key is of one monitor.
    package var slug: String?
    /// What it says.
    package var signal: Signal
    /// Ties a start and an end: a UUID in small letters.
    package var runID: String?
    /// Whether a monitor that is not there is made.
    package var creates: Bool
    /// What came with it: the first 10,000 bytes of the body, or Uptime Kuma's `msg`.
    package var text: String

    /// The longest text that is kept, in bytes.
    package static let maximumTextBytes = 10_000

    /// What a request says.
    package enum Reading: Sendable, Equatable {
        /// A ping.
        case ping(PingRequest)
        /// Nothing that can be taken.
        case refused(ReceiverFault)
    }

    /// The ping of a request.
    package static func read(_ request: ReceiverRequest) -> Reading { .refused(.notFound) }

    /// The answer to a ping that was read.
    package func answer(_ outcome: Outcome) -> ReceiverAnswer { ReceiverAnswer(200, text: "OK") }

    /// The answer to a request of which nothing was taken.
    package static func answer(_ fault: ReceiverFault, to request: ReceiverRequest) -> ReceiverAnswer {
        ReceiverAnswer(404, text: "not found")
    }
}
