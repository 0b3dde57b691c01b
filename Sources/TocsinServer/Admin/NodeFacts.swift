import JSON
import TocsinAPI
import TocsinCore

/// Which program runs here, under which name, and since when.
struct NodeFacts: Sendable {
    let name: String
    let startedAt: Timestamp
    let time: any TimeSource

    init(_ process: ProcessPart) {
        name = process.settings.server.nodeName
        time = process.time
        startedAt = time.now()
    }

    var report: JSONObject {
        [
            "version": .string(BuildInfo.version), "commit": .string(BuildInfo.commit), "node": .string(name),
            "startedAt": .string(startedAt.iso8601),
            "uptimeSeconds": .int((time.now().milliseconds - startedAt.milliseconds) / 1000),
        ]
    }
}
