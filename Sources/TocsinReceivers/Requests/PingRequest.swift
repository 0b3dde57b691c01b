import JSON

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

    /// What a request says.
    package enum Reading: Sendable, Equatable {
        /// A ping.
        case ping(PingRequest)
        /// Nothing that can be taken.
        case refused(ReceiverFault)
    }

    /// Whose answers it expects.
    package var form: Form
    /// The monitor's key.
    package var key: String
    /// The monitor among those of one key; nil: the key is of one monitor.
    package var slug: String?
    /// What it says.
    package var signal: Signal = .success
    /// Ties a start and an end: a UUID in small letters.
    package var runID: String?
    /// Whether a monitor that is not there is made.
    package var creates = false
    /// What came with it: the first 10,000 bytes of the body, or Uptime Kuma's `msg`.
    package var text = ""

    /// The longest text that is kept, in bytes.
    package static let maximumTextBytes = 10_000
    private static let methods = ["GET", "HEAD", "POST"]

    private init(_ form: Form, key: String) { (self.form, self.key) = (form, key) }

    /// The ping of a request.
    package static func read(_ request: ReceiverRequest) -> Reading {
        guard methods.contains(request.method) else { return .refused(.methodNotAllowed) }
        let segments = request.segments
        switch segments.first {
        case "ping" where (2...4).contains(segments.count): return readPing(request, Array(segments.dropFirst()))
        case "api" where segments.count == 3 && segments[1] == "push": return readPush(request, key: segments[2])
        default: return .refused(.notFound)
        }
    }

    /// The answer to a ping that was read.
    package func answer(_ outcome: Outcome) -> ReceiverAnswer {
        switch (form, outcome) {
        case (.ping, .unknown), (.push, .unknown): Self.unknown(form)
        case (.push, _): ReceiverAnswer(200, json: ["ok": true])
        case (.ping, .created): ReceiverAnswer(201, text: "Created", headers: Self.limit)
        case (.ping, .taken): ReceiverAnswer(200, text: "OK", headers: Self.limit)
        }
    }

    /// The answer to a request of which nothing was taken.
    package static func answer(_ fault: ReceiverFault, to request: ReceiverRequest) -> ReceiverAnswer {
        let form: Form = request.segments.first == "api" ? .push : .ping
        return switch fault {
        // An unknown key is as a monitor that is not there.
        case .unauthenticated, .notFound: unknown(form)
        case .badInput(let words, _): plain(400, words.joined(separator: " "), form)
        case .unsupportedType: plain(415, "unsupported type", form)
        case .tooLarge: plain(413, "too large", form)
        case .methodNotAllowed: plain(405, "method not allowed", form, NativeAnswers.headers(allow: methods))
        case .rateLimited(let seconds): plain(429, "too many pings", form, NativeAnswers.headers(retryAfter: seconds))
        case .lockedOut(let seconds):
            plain(429, NativeAnswers.wrongKeys(seconds), form, NativeAnswers.headers(retryAfter: seconds))
        case .unavailable(let seconds): plain(503, "unavailable", form, NativeAnswers.headers(retryAfter: seconds))
        }
    }

    private static let limit = [ReceiverRequest.Item("Ping-Body-Limit", String(maximumTextBytes))]

    private static func unknown(_ form: Form) -> ReceiverAnswer {
        plain(404, form == .ping ? "not found" : "Monitor not found or not active.", form)
    }

    private static func plain(
        _ status: Int,
        _ words: String,
        _ form: Form,
        _ headers: [ReceiverRequest.Item] = []
    ) -> ReceiverAnswer {
        form == .ping
            ? ReceiverAnswer(status, text: words, headers: headers)
            : ReceiverAnswer(status, json: ["ok": false, "msg": .string(words)], headers: headers)
    }

    /// `/ping/{key}[/{slug}][/{signal}]`; a segment that is no signal is a slug.
    private static func readPing(_ request: ReceiverRequest, _ segments: [String]) -> Reading {
        var ping = PingRequest(.ping, key: segments[0])
        var rest = segments.dropFirst()
        if let last = rest.last, let signal = signal(last) {
            ping.signal = signal
            rest.removeLast()
        }
        guard rest.count <= 1 else { return .refused(.notFound) }
        if let slug = rest.first {
            guard isSlug(slug) else { return .refused(.notFound) }
            ping.slug = slug
            ping.creates = request.queryValue("create") == "1"
        }
        if let run = request.queryValue("rid") {
            guard isUUID(run) else { return .refused(.badInput(["invalid uuid format"])) }
            ping.runID = run.lowercased()
        }
        ping.text = kept(String(decoding: request.body.prefix(maximumTextBytes), as: UTF8.self))
        return .ping(ping)
    }

    private static func readPush(_ request: ReceiverRequest, key: String) -> Reading {
        var ping = PingRequest(.push, key: key)
        ping.signal = (request.queryValue("status") ?? "up") == "up" ? .success : .fail(exitStatus: nil)
        ping.text = kept(request.queryValue("msg") ?? "")
        return .ping(ping)
    }

    private static func kept(_ text: String) -> String { text.withoutControls.cut(toBytes: maximumTextBytes) }

    private static func signal(_ segment: String) -> Signal? {
        switch segment {
        case "start": return .start
        case "fail": return .fail(exitStatus: nil)
        case "log": return .log
        default:
            guard segment.utf8.count <= 3, segment.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let status = Int(segment), status <= 255
            else { return nil }
            return status == 0 ? .success : .fail(exitStatus: status)
        }
    }

    private static func isSlug(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x5F
            }
    }

    private static func isUUID(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.count == 36
            && bytes.indices.allSatisfy { index in
                [8, 13, 18, 23].contains(index) ? bytes[index] == 0x2D : HexText.digit(bytes[index]) != nil
            }
    }
}
