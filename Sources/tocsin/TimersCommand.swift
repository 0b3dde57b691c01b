import ArgumentParser
import JSON
import TocsinCore
import TocsinServer

/// The command `tocsin timers`.
struct TimersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "timers",
        abstract: "List what is to be done at a time, what is due first before the rest; at most 1000.",
        discussion: """
            Each line has when it is due, what is done, what it is about, whose it is, how often it failed, and why. \
            What failed is tried again after 1, 2, 4 … 60 seconds, for ever.
            """
    )

    @Flag(help: "Only what failed when it was tried last.") var failed = false
    @Flag(help: "One JSON object a line.") var json = false
    @OptionGroup var store: StoreOptions

    func run() async throws {
        try await OfflineStore.run(store) { tool throws(ServiceError) in
            for timer in try await tool.timers(failedOnly: failed) { print(json ? line(timer) : row(timer)) }
        }
    }

    private func row(_ timer: TimerEntry) -> String {
        [
            timer.dueAt.iso8601, timer.kind.rawValue, timer.subject.isEmpty ? "-" : timer.subject,
            timer.owner?.text ?? "-", "\(timer.attempts)", timer.error ?? "",
        ].map(Terminal.harmless).joined(separator: "\t")
    }

    private func line(_ timer: TimerEntry) -> String {
        JSONValue.object([
            "dueAt": .string(timer.dueAt.iso8601), "kind": .string(timer.kind.rawValue),
            "subject": .string(timer.subject), "owner": timer.owner.map { .string($0.text) } ?? .null,
            "attempts": .int(Int64(timer.attempts)),
            "failedAt": timer.failedAt.map { .string($0.iso8601) } ?? .null,
            "error": timer.error.map(JSONValue.string) ?? .null,
        ]).serializedString()
    }
}
