import Foundation
import JSON
import Testing
import TocsinCore
import TocsinReceivers

@Suite("Receivers that ship")
struct ShippedReceiversTests {
    @Test("all of them are compiled without a problem")
    func compiled() {
        #expect(TemplateSite.shipped.problems.isEmpty, "\(TemplateSite.shipped.problems)")
        #expect(
            TemplateSite.shipped.receivers.map(\.name).sorted() == [
                "apprise", "argocd", "aws-sns", "generic", "gitea", "github", "gitlab", "healthchecks",
                "home-assistant", "jenkins", "proxmox", "sentry", "statuspage", "uptime-kuma", "victorops", "zabbix",
            ]
        )
    }

    @Test("each has at least three recorded requests")
    func recorded() {
        let counts = Dictionary(grouping: RecordedRequest.all, by: \.receiver).mapValues(\.count)
        for receiver in TemplateSite.shipped.receivers {
            #expect(counts[receiver.name, default: 0] >= 3, "\(receiver.name)")
        }
    }

    @Test("a recorded request becomes the events of its file", arguments: RecordedRequest.all)
    func events(request: RecordedRequest) throws {
        let template = try #require(TemplateSite.shipped.receivers.first { $0.name == request.receiver })
        let result = request.result(of: template)
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            let data = try JSONSerialization.data(
                withJSONObject: JSONSerialization.jsonObject(with: Data(JSONValue.object(result).serialized())),
                options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            )
            try (data + Data("\n".utf8)).write(to: request.file)
            return
        }
        for name in ["events", "notes", "answer", "refused"] {
            #expect(
                Self.sorted(result[name]) == Self.sorted(request.contents[name]),
                "\(request.testDescription): \(name)"
            )
        }
    }

    /// Members in the order of their names: files are written so.
    private static func sorted(_ value: JSONValue?) -> JSONValue? {
        switch value {
        case .array(let items)?: .array(items.compactMap(sorted))
        case .object(let members)?:
            .object(
                JSONObject(members.sorted { $0.key < $1.key }.map { ($0.key, sorted($0.value) ?? .null) })
            )
        default: value
        }
    }
}
