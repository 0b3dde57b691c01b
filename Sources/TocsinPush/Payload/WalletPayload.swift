import JSON
import TocsinCore

/// The eleven keys that the app of EPNS, a wallet's push service, reads with a push.
///
/// A topic asks for them. What the publisher gives in `data` under one of these names is taken as
/// it is, and the server fills in the rest. All values are texts, on every platform.
package struct WalletPayload: Sendable, Hashable {
    /// Who pushes, as people read it.
    package var app: String
    /// The address of that app's picture; empty: none.
    package var icon: String
    /// That app's own page; empty: none.
    package var url: String

    /// What a topic says of its app; without a name of its own, the topic's.
    init(topic: Record) {
        app = topic["pushApp"].text ?? topic["name"].text ?? ""
        icon = topic["pushIcon"].text ?? ""
        url = topic["pushUrl"].text ?? ""
    }

    /// Names that are not the publisher's own in `data`.
    static let keys: Set<String> = [
        "sid", "app", "icon", "url", "epoch", "type", "secret", "asub", "amsg", "acta", "aimg",
    ]

    /// The keys of one message; without details, those alone by which an app finds it.
    func members(
        of payload: PushPayload,
        _ texts: TextFitting.Texts,
        _ detail: TextFitting.Detail
    ) -> JSONObject {
        let isEncrypted = payload.placeholder != nil
        var members: JSONObject = [
            "sid": .string(payload.messageID.text),
            "epoch": .string(String(payload.committedAt.milliseconds / 1000)),
            "type": .string(String(payload.type)),
        ]
        guard detail == .everything else { return members }
        members["app"] = .string(app)
        members["icon"] = .string(icon)
        members["url"] = .string(url)
        members["secret"] = ""
        // Ciphertext is whole: what was cut could not be read.
        members["asub"] = .string(isEncrypted ? payload.title : texts.title)
        members["amsg"] = .string(isEncrypted ? payload.body : texts.body)
        members["acta"] = .string(payload.url ?? "")
        members["aimg"] = .string(payload.options.image ?? "")
        for member in payload.data where Self.keys.contains(member.key) {
            members[member.key] = .string(member.value.stringValue ?? member.value.serializedString())
        }
        return members
    }
}

extension PushPayload {
    /// The publisher's values that no form of payload has taken.
    var otherData: JSONObject {
        guard epns != nil else { return data }
        return JSONObject(data.filter { !WalletPayload.keys.contains($0.key) }.map { ($0.key, $0.value) })
    }
}

extension JSONObject {
    /// The members of both; where both have a name, the other's value.
    func merging(_ other: JSONObject) -> JSONObject {
        var merged = self
        for member in other { merged[member.key] = member.value }
        return merged
    }
}
