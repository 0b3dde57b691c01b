import HTTPTypes
import TocsinCore
import TocsinHTTP

/// The client for browsers, as it is served below `/client/` and written by `tocsin client js`.
package struct ClientFiles: Sendable {
    /// One file.
    package struct File: Sendable, Hashable {
        /// What it is called, such as `tocsin.js`.
        package let name: String
        /// All of it.
        package let text: String

        /// Changes whenever the file does; one for each way in which its bytes are sent.
        func tag(isPacked: Bool) -> String {
            "\"" + DerivedUUID.text(of: name, text) + (isPacked ? "-gzip" : "") + "\""
        }

        var mediaType: String {
            name.hasSuffix(".js") ? "text/javascript; charset=utf-8" : "text/plain; charset=utf-8"
        }
    }

    /// All files, in order of name.
    package static let all = EmbeddedBrowserFiles.files.map { File(name: $0.name, text: $0.text) }

    /// A route for each of them; anybody may read them.
    static var routes: [HTTPRoute] {
        all.map { file in
            let body = Array(file.text.utf8)
            let packed = Gzip.packed(body, .once)
            let tags = (plain: file.tag(isPacked: false), packed: file.tag(isPacked: true))
            return HTTPRoute(.get, "/client/" + file.name) { request in
                // A page asks whether there is a newer one each time, so a release is one for
                // everybody.
                let isPacked = packed != nil && Accepted.accepts("gzip", in: request.header("accept-encoding"))
                var fields = [
                    (name: "cache-control", value: "no-cache"), ("etag", isPacked ? tags.packed : tags.plain),
                    ("x-content-type-options", "nosniff"), ("vary", "Accept-Encoding"),
                ]
                let known = request.header("if-none-match") ?? ""
                if known == "*" || known.contains(tags.plain) || known.contains(tags.packed) {
                    return OutgoingResponse(status: .notModified, contentType: nil, fields: fields)
                }
                guard isPacked, let packed else {
                    return OutgoingResponse(status: .ok, contentType: file.mediaType, fields: fields, body: body)
                }
                fields.append(("content-encoding", "gzip"))
                return OutgoingResponse(status: .ok, contentType: file.mediaType, fields: fields, body: packed)
            }
        }
    }
}
