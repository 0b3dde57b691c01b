import HTTPTypes
import TocsinCore
import TocsinReceivers

/// Which receiver a path means, before it is known whose key came with the request.
enum ReceiverPlace: Equatable {
    /// `/in/{key}`: the kind is the integration's.
    case anyKind
    /// A path of one product: `/in/alertmanager`, `/v2/enqueue`, `/message`, `/hooks/…`.
    case kind(Integration.Kind)
    /// `/in/to/{topic}/{kind}`: for tokens of users alone.
    case topic(String, Integration.Kind)
    /// ntfy's paths; nil: the body names the topic.
    case ntfy(String?)
    /// Nothing.
    case none

    /// First segments that are no topics of ntfy's.
    static let reserved: Set<String> = [
        "graphql", "healthz", "livez", "readyz", "metrics", "in", "message", "stream", "v1", "v2", "services", "hooks",
        "ping", "ical", "act", "api", "tcm", "console", "client", "application", "current", "version", "health", "docs",
        "static", "app", "favicon.ico", "robots.txt", "auth", "assets", "sw.js",
    ]
    /// Pages of the console that are read at paths of two segments.
    private static let pages: Set<String> = ["topics", "messages", "incidents"]

    /// The place that a request of a sender means.
    init(_ request: ReceiverRequest) {
        let segments = request.segments
        switch (segments.first, segments.count) {
        case (nil, _): self = .ntfy(nil)
        case ("in"?, 4) where segments[1] == "to":
            self = Receivers.kind(named: segments[3]).map { .topic(segments[2], $0) } ?? .none
        case ("in"?, 2...) where segments[1] != "to":
            self = Receivers.kind(named: segments[1]).map { .kind($0) } ?? .anyKind
        case ("v2"?, 2) where segments[1] == "enqueue": self = .kind(.pagerDuty)
        case ("v2"?, 3) where segments[1] == "change" && segments[2] == "enqueue": self = .kind(.pagerDuty)
        case ("message"?, 1): self = .kind(.gotify)
        case ("services"?, 4), ("hooks"?, 2...3): self = .kind(.slack)
        case (let topic?, _) where Self.isOfNtfy(request.method, segments): self = .ntfy(topic)
        default: self = .none
        }
    }

    /// The kinds whose senders post to a path that begins as no other does; nil: it is none's.
    static func kinds(ofPath path: String, _ method: String) -> Set<Integration.Kind>? {
        let request = ReceiverRequest(
            method: method,
            target: path,
            headers: [],
            body: [],
            receivedAt: Timestamp(milliseconds: 0)
        )
        switch ReceiverPlace(request) {
        case .kind(let kind), .topic(_, let kind): return [kind]
        case .ntfy: return [.ntfy]
        case .anyKind: return ofAnyPath
        case .none: break
        }
        switch request.segments.first {
        case "in": return ofAnyPath
        case "v2": return [.pagerDuty]
        case "message", "version", "health": return [.gotify]
        case "services", "hooks": return [.slack]
        default: return nil
        }
    }

    /// The kinds whose keys may stand in `/in/{key}`.
    private static let ofAnyPath = Set(Integration.Kind.allCases).subtracting([.heartbeat])

    /// Whether a request at no other path is one of ntfy's; without a method, of any.
    static func isOfNtfy(_ method: HTTPRequest.Method?, _ path: String) -> Bool {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        if segments == [""] { return method.map { [.post, .put].contains($0) } ?? true }
        guard !segments.contains("") else { return false }
        guard let method else {
            return ["POST", "PUT", "DELETE", "GET"].contains { isOfNtfy($0, segments) }
        }
        return isOfNtfy(method.rawValue, segments)
    }

    private static func isOfNtfy(_ method: String, _ segments: [String]) -> Bool {
        guard let topic = segments.first, !reserved.contains(topic) else { return false }
        switch (method, segments.count) {
        case ("POST", 1...2), ("PUT", 1...2): return true
        case ("PUT", 3): return segments[2] == "clear"
        case ("DELETE", 2): return true
        case ("GET", 2), ("HEAD", 2):
            return ["publish", "send", "trigger"].contains(segments[1]) && !pages.contains(topic)
        default: return false
        }
    }

    /// The kind whose shape answers where it is not known whose key came.
    var kind: Integration.Kind {
        switch self {
        case .kind(let kind), .topic(_, let kind): kind
        case .ntfy: .ntfy
        case .anyKind, .none: .event
        }
    }
}
