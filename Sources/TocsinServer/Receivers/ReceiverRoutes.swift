import HTTPTypes
import TocsinCore
import TocsinHTTP

/// The paths of senders: those of products, and last ntfy's, which have no beginning of their own.
struct ReceiverRoutes: Sendable {
    let desk: ReceiverDesk
    /// Nil: there are no monitors.
    let pings: PingDesk?
    /// The shapes that are taken; paths of others are as if they were not.
    let shapes: Set<Integration.Kind>

    /// The paths that begin as no others do.
    private static let paths = [
        "/in/*", "/v2/enqueue", "/v2/change/enqueue", "/message", "/services/*", "/hooks/*",
    ]

    /// The routes; they are to stand behind all others.
    var routes: [HTTPRoute] {
        var routes = Self.paths.map { route(nil, $0) } + ["/version", "/health"].map { route(.get, $0) }
        if shapes.count < Integration.Kind.allCases.count {
            for index in routes.indices { routes[index].takes = { [shapes] in Self.takes($0, $1, shapes) } }
        }
        if let pings, shapes.contains(.heartbeat) { routes += Self.routes(of: pings) }
        guard shapes.contains(.ntfy) else { return routes }
        var ofNtfy = route(nil, "/*")
        ofNtfy.takes = { ReceiverPlace.isOfNtfy($0, $1) }
        routes.append(ofNtfy)
        return routes
    }

    /// Whether a path is one of these shapes.
    private static func takes(
        _ method: HTTPRequest.Method?,
        _ path: String,
        _ shapes: Set<Integration.Kind>
    ) -> Bool {
        let kinds = ReceiverPlace.kinds(ofPath: path, method?.rawValue ?? "POST")
        return kinds.map { !$0.isDisjoint(with: shapes) } ?? false
    }

    /// The paths of pings.
    private static func routes(of desk: PingDesk) -> [HTTPRoute] {
        ["/ping/*", "/api/push/*"].map { path in
            var route = HTTPRoute(nil, path) {
                await desk.admission(of: $0)
            } respond: {
                await desk.respond(to: $0)
            }
            (route.maximumBodyBytes, route.overloadStatus) = (desk.maximumBodyBytes, .serviceUnavailable)
            return route.labelled(.receivers)
        }
    }

    private func route(_ method: HTTPRequest.Method?, _ path: String) -> HTTPRoute {
        let desk = desk
        var route = HTTPRoute(method, path) {
            await desk.admission(of: $0)
        } respond: {
            await desk.respond(to: $0)
        }
        (route.maximumBodyBytes, route.overloadStatus) = (desk.maximumBodyBytes, .serviceUnavailable)
        return route.labelled(.receivers)
    }
}
