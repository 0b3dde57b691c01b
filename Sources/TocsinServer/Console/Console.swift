import FoundationEssentials
import HTTPTypes
import TocsinCore
import TocsinHTTP

/// The web console: one page for all addresses of its views, and its files below `/assets/`.
///
/// All of it is the same for everybody; what people see comes over GraphQL.
struct Console: Sendable {
    /// The addresses of views, which `app.js` tells apart.
    static let views = [
        "/", "/feed", "/start", "/topics/*", "/messages/*", "/send", "/devices", "/tokens", "/account", "/people",
        "/groups", "/incidents", "/incidents/*", "/search", "/deliveries", "/audit", "/node", "/sign-in",
    ]
    private let isOn: Bool
    /// Where the files are read anew each time; nil: those that ship.
    private let folder: String?
    private let files: [ConsoleFile]
    /// Changes whenever a file does, so that files are kept for good.
    private let release: String
    /// Where the page finds its files.
    private let place: String
    /// What stands before all addresses.
    private let basePath: String

    init(_ settings: Settings.Server) {
        (isOn, basePath) = (settings.console != "off", settings.basePath)
        folder = ["on", "off"].contains(settings.console) ? nil : settings.console
        release = String(
            DerivedUUID.text(
                of: "console",
                (EmbeddedConsole.files.map { $0.name + $0.text } + ClientFiles.all.map(\.text)).joined()
            ).prefix(8)
        )
        let place = "\(settings.basePath)/assets/\(folder == nil ? release : "folder")"
        self.place = place
        guard isOn, folder == nil else {
            files = []
            return
        }
        files = EmbeddedConsole.files.map { ConsoleFile(name: $0.name, text: $0.text, place: place) }
    }

    /// What is served; where the console is off, only what ends workers that browsers have of it.
    var routes: [HTTPRoute] {
        guard isOn else {
            let end = EmbeddedConsole.files.first { $0.name == "sw-end.js" }
            return [HTTPRoute(.get, "/sw.js", respond: { _ in Self.script(end?.text ?? "") })]
        }
        let pages = Self.views.map { HTTPRoute(.get, $0, respond: { _ in page() }).asPage }
        return pages + [
            HTTPRoute(.get, "/assets/*", respond: asset), HTTPRoute(.get, "/sw.js", respond: { _ in worker() }),
        ]
    }

    private func page() -> OutgoingResponse {
        guard let page = file(named: "index.html") else { return Self.nothing }
        return OutgoingResponse(
            status: .ok,
            contentType: "text/html; charset=utf-8",
            fields: Self.fieldsOfPage,
            body: Array(page.text.utf8)
        )
    }

    private func asset(_ request: IncomingRequest) -> OutgoingResponse {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
        // "", "assets", the release, the name: a page of an older release gets the newest files.
        guard parts.count == 4, let file = file(named: String(parts[3])) else { return Self.nothing }
        let isKept = folder == nil && parts[2] == release
        var fields = [
            (name: "cache-control", value: isKept ? "public, max-age=31536000, immutable" : "no-cache"),
            ("x-content-type-options", "nosniff"), ("vary", "Accept-Encoding"),
        ]
        guard let packed = file.packed, Accepted.accepts("gzip", in: request.header("accept-encoding")) else {
            return OutgoingResponse(
                status: .ok,
                contentType: file.mediaType,
                fields: fields,
                body: Array(file.text.utf8)
            )
        }
        fields.append(("content-encoding", "gzip"))
        return OutgoingResponse(status: .ok, contentType: file.mediaType, fields: fields, body: packed)
    }

    /// The worker that keeps the console's files and shows pushes; it must stand at the root of
    /// what it shows pages of.
    private func worker() -> OutgoingResponse {
        let pushes = ClientFiles.all.first { $0.name == "tocsin-worker.js" }?.text ?? ""
        // What a folder has is read anew each time, so nothing of it is kept.
        let names = folder == nil ? EmbeddedConsole.files.map(\.name) : []
        let modules = names.filter { $0 != "index.html" && !$0.hasPrefix("sw") }.map { "\(place)/\($0)" }
        let files = modules + (folder == nil ? [basePath + "/client/tocsin.js"] : [])
        let text = (file(named: "sw.js")?.text ?? "")
            .replacing("{base}", with: basePath)
            .replacing("{release}", with: folder == nil ? release : "folder")
            .replacing("{files}", with: files.joined(separator: " "))
            .replacing("{views}", with: Self.views.joined(separator: " "))
        return Self.script(text + pushes)
    }

    private static func script(_ text: String) -> OutgoingResponse {
        OutgoingResponse(
            status: .ok,
            contentType: "text/javascript; charset=utf-8",
            fields: [("cache-control", "no-cache"), ("x-content-type-options", "nosniff")],
            body: Array(text.utf8)
        )
    }

    private func file(named name: String) -> ConsoleFile? {
        guard let folder else { return files.first { $0.name == name } }
        // One name, so that no path leads out of the folder; what else lies there stays there.
        guard !name.hasPrefix("."), !name.contains("/"), ConsoleFile.isOfConsole(name),
            let data = FileManager.default.contents(atPath: folder + "/" + name)
        else { return nil }
        return ConsoleFile(name: name, text: String(decoding: data, as: UTF8.self), place: place)
    }

    private static let nothing = OutgoingResponse(
        status: .notFound,
        contentType: "text/plain; charset=utf-8",
        body: Array("There is no such file of the console.\n".utf8)
    )

    /// No script, style, frame or address but the server's own; scripts make no markup of texts.
    private static let fieldsOfPage = [
        (
            name: "content-security-policy",
            value: "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
                + "connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; "
                + "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types tocsin"
        ),
        ("cache-control", "no-cache"), ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"), ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"), ("vary", "Accept"),
    ]
}

/// A file of the console.
struct ConsoleFile: Sendable {
    let name: String
    let text: String
    /// As most browsers take it; nil where there is no memory for it.
    let packed: [UInt8]?

    /// Of a file as it is written, with the place of the others where it names it.
    init(name: String, text: String, place: String) {
        (self.name, self.text) = (name, text.replacing("{assets}", with: place))
        packed = Gzip.packed(Array(self.text.utf8), .once)
    }

    /// By the ends of names.
    private static let mediaTypes = [
        "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "svg": "image/svg+xml",
        "webmanifest": "application/manifest+json",
    ]
    private static let page = "index.html"

    /// Whether a file of this name may be one of the console.
    static func isOfConsole(_ name: String) -> Bool { name == page || mediaType(of: name) != nil }

    var mediaType: String { Self.mediaType(of: name) ?? "text/html; charset=utf-8" }

    private static func mediaType(of name: String) -> String? {
        let parts = name.split(separator: ".")
        return parts.count > 1 ? mediaTypes[String(parts[parts.count - 1])] : nil
    }
}
