import ArgumentParser
import FoundationEssentials
import TocsinCore

/// `tocsin event`: what a host or its monitoring says, kept until the server has it.
struct EventCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "event",
        abstract: "Send an event to an integration; what cannot be sent waits on the disk.",
        discussion: """
            An event is first written to the spool and synchronised with the disk, then sent for up to 3 s. What is \
            left goes out in order with the next event, or with `tocsin event flush`, which a timer unit runs each \
            minute. The spool holds at most 10,000 events or 64 MiB; when it is full, the command fails and what waits \
            stays. Events that the server refuses for good (400, 401, 404, 413) are moved to the folder refused below \
            the spool, each with its reason. A repeated event makes nothing twice.

            The key of the integration, of kind EVENT, stands alone in a file.

            EXAMPLES
              tocsin event trigger --key db-3/disk --title "Disk full" --severity critical --label host=db-3
              tocsin event resolve --key db-3/disk
              df -h | tocsin event log --title "Disks" --body -

            ENVIRONMENT
              TOCSIN_URL       the server's address
              TOCSIN_KEY_FILE  the file with the integration's key

            FILES
              /etc/default/tocsin-host  variables for the whole host, where the environment has none

            EXIT STATUS
              0 sent, or waiting on the disk; 1 neither, or refused; 2 wrong use
            """,
        subcommands: [
            Trigger.self, Acknowledge.self, Resolve.self, Log.self, NagiosCommand.self, IcingaCommand.self, Flush.self,
        ]
    )

    /// `tocsin event trigger`.
    struct Trigger: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "trigger",
            abstract: "Something is wrong: open an incident, or count in the open one of this key.",
            discussion: "Without --key a new one is made and printed."
        )

        @Option(help: "What the incident is about, such as db-3/disk; 1 to 512 characters.") var key: String?
        @Option(help: "The line people see first.") var title: String
        @OptionGroup var details: EventDetails
        @OptionGroup var host: HostOptions

        func validate() throws {
            if title.isEmpty { throw ValidationError("--title is empty. Give the line people should see.") }
            try EventDetails.check(key: key)
        }

        func run() async throws {
            try await details.event(.trigger, key: key, title: title).deliver(host.settings)
        }
    }

    /// `tocsin event acknowledge`.
    struct Acknowledge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "acknowledge",
            abstract: "Somebody has taken the incident of this key on."
        )

        @Option(help: "The incident's key.") var key: String
        @Option(help: "A line for its timeline.") var title = ""
        @OptionGroup var details: EventDetails
        @OptionGroup var host: HostOptions

        func validate() throws { try EventDetails.check(key: key) }

        func run() async throws {
            try await details.event(.acknowledge, key: key, title: title).deliver(host.settings)
        }
    }

    /// `tocsin event resolve`.
    struct Resolve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resolve",
            abstract: "The incident of this key is over."
        )

        @Option(help: "The incident's key.") var key: String
        @Option(help: "A line for its timeline.") var title = ""
        @OptionGroup var details: EventDetails
        @OptionGroup var host: HostOptions

        func validate() throws { try EventDetails.check(key: key) }

        func run() async throws {
            try await details.event(.resolve, key: key, title: title).deliver(host.settings)
        }
    }

    /// `tocsin event log`.
    struct Log: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "log",
            abstract: "Send a plain message, without an incident."
        )

        @Option(help: "Your own dedupe key: the same key again makes no second message.") var key: String?
        @Option(help: "The line people see first.") var title: String
        @OptionGroup var details: EventDetails
        @OptionGroup var host: HostOptions

        func validate() throws {
            if title.isEmpty { throw ValidationError("--title is empty. Give the line people should see.") }
            try EventDetails.check(key: key)
        }

        func run() async throws {
            try await details.event(.log, key: key, title: title).deliver(host.settings)
        }
    }

    /// `tocsin event flush`.
    struct Flush: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "flush",
            abstract: "Send what waits in the spool.",
            discussion: """
                It ends when all is sent, or when the server has not answered or has asked for patience for 3 s; after \
                5 minutes at the latest. While another process sends, it leaves the work to that one.

                EXIT STATUS
                  0 nothing waits, or another process sends; 1 some wait or were refused; 2 wrong use
                """
        )

        @OptionGroup var host: HostOptions

        func run() async throws {
            let spool = Spool(folder: host.settings.spool)
            let sender = SpoolSender(spool: spool, server: host.settings.server, deadline: .now + .seconds(300))
            let report: SpoolSender.Report
            do throws(Spool.Failure) {
                report = try await sender.send()
            } catch {
                // Nobody has used it yet.
                guard FileManager.default.fileExists(atPath: spool.folder) else { return }
                guard case .unusable(let reason) = error else { return }
                throw CommandFailure("The spool cannot be used: \(reason).")
            }
            for (name, reason) in report.refused {
                Terminal.remark("An event was refused and lies in \(spool.refusedFolder)/\(name): \(reason).")
            }
            for reason in report.waitingReasons { Terminal.remark("Events wait in \(spool.folder): \(reason).") }
            if !report.refused.isEmpty || !report.waitingReasons.isEmpty { throw ExitCode.failure }
        }
    }
}

/// What an event may say beside its key and title.
struct EventDetails: ParsableArguments {
    @Option(help: "The text, of which 64 KiB are kept; - reads standard input.")
    var body = ""

    @Option(help: "A word such as critical or warning, which the integration turns into a priority.")
    var severity: String?

    @Option(help: "1 (min) to 5 (critical); it wins over the severity.")
    var priority: Int?

    @Option(name: .customLong("label"), help: ArgumentHelp("May be given up to 64 times.", valueName: "name=value"))
    var labels: [String] = []

    @Option(help: "A link that opens with the message.")
    var url: String?

    func validate() throws {
        if let priority, !(1...5).contains(priority) {
            throw ValidationError("--priority \(priority) is not from 1 (min) to 5 (critical).")
        }
        guard labels.count <= 64 else { throw ValidationError("There are \(labels.count) labels; 64 are the most.") }
        for label in labels where (label.firstIndex(of: "=") ?? label.startIndex) == label.startIndex {
            throw ValidationError("--label \"\(label)\" is not of the form name=value.")
        }
        try LinkOption.check(url, "--url")
    }

    static func check(key: String?) throws {
        guard let key else { return }
        guard (1...HostEvent.maximumKeyLength).contains(key.unicodeScalars.count) else {
            throw ValidationError("--key has \(key.unicodeScalars.count) characters. Give 1 to 512.")
        }
    }

    /// The event with these details; the text may be read from standard input.
    func event(_ action: SenderEvent.Action, key: String?, title: String) throws -> HostEvent {
        var event = HostEvent(action: action, key: key, title: title)
        event.body = body
        if body == "-" {
            let bytes = try HostInput.read(maximumBytes: HostEvent.maximumBodyBytes + 1).bytes
            event.body = String(decoding: bytes, as: UTF8.self)
            while event.body.hasSuffix("\n") { event.body.removeLast() }
        }
        (event.severity, event.priority, event.url) = (severity, priority, url)
        event.labels = labels.map { label in
            let parts = label.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), String(parts[1]))
        }
        return event
    }
}
