import Foundation
import Testing

/// A mail as a program hands it to sendmail, and what must arrive.
struct MailCase: CustomTestStringConvertible {
    let testDescription: String
    var arguments: [String]
    var input: String
    /// Lines of what arrives.
    var lines: [String]
    /// What must not arrive.
    var absent: [String] = []

    static let all: [MailCase] = [
        .init(
            testDescription: "cron of Debian 12",
            arguments: ["-i", "-FCronDaemon", "-B8BITMIME", "-oem", "root"],
            input: """
                From: root (Cron Daemon)
                To: root
                Subject: Cron <root@db-3> /usr/local/bin/backup
                MIME-Version: 1.0
                Content-Type: text/plain; charset=UTF-8
                Content-Transfer-Encoding: 8bit
                X-Cron-Env: <SHELL=/bin/sh>

                .
                tar: Größe stimmt nicht

                """,
            lines: [
                "From: root (Cron Daemon)", "Subject: Cron <root@db-3> /usr/local/bin/backup", ".",
                "tar: Größe stimmt nicht",
            ]
        ),
        .init(
            testDescription: "mdadm --monitor",
            arguments: ["-t"],
            input: """
                From: mdadm monitoring <root>
                To: root
                Subject: DegradedArray event on /dev/md0:db-3

                This is an automatically generated mail message from mdadm
                running on db-3

                A DegradedArray event had been detected on md device /dev/md0.

                Faithfully yours, etc.

                """,
            lines: [
                "From: mdadm monitoring <root>", "Subject: DegradedArray event on /dev/md0:db-3",
                "Faithfully yours, etc.",
            ]
        ),
        .init(
            testDescription: "smartd through mail of bsd-mailx",
            arguments: ["-i", "root"],
            input: """
                To: root
                Subject: SMART error (CurrentPendingSector) detected on host: db-3

                Device: /dev/sda [SAT], 8 Currently unreadable (pending) sectors

                """,
            lines: [
                "To: root", "Subject: SMART error (CurrentPendingSector) detected on host: db-3",
                "Device: /dev/sda [SAT], 8 Currently unreadable (pending) sectors",
            ]
        ),
        .init(
            testDescription: "unattended-upgrades",
            arguments: ["-oi", "-t"],
            input: """
                Subject: [reboot required] unattended-upgrades result for db-3: SUCCESS
                To: root
                Auto-Submitted: auto-generated
                MIME-Version: 1.0
                Content-Type: text/plain; charset="utf-8"
                Content-Transfer-Encoding: base64

                VW5hdHRlbmRlZCB1cGdyYWRlIHJlc3VsdDogQWxsIHVwZ3JhZGVzIGluc3RhbGxlZA==

                """,
            lines: [
                "Subject: [reboot required] unattended-upgrades result for db-3: SUCCESS",
                "VW5hdHRlbmRlZCB1cGdyYWRlIHJlc3VsdDogQWxsIHVwZ3JhZGVzIGluc3RhbGxlZA==",
            ]
        ),
        .init(
            testDescription: "a text without a head, ended by a dot",
            arguments: ["-f", "disk@example.org", "-F", "Disk \"watch\"", "ada@example.org", "bob"],
            input: "Disk full: sda1\n.\nnot read\n",
            lines: ["From: \"Disk watch\" <disk@example.org>", "To: ada@example.org, bob"],
            absent: ["not read"]
        ),
        .init(
            testDescription: "hidden recipients, options joined and unknown ones",
            arguments: ["-ti", "-odb", "-N", "never", "-Am", "-v"],
            input: "Subject: s\nBcc: secret@example.org,\n other@example.org\nTo: x\n\n.\nbody\n",
            lines: ["Subject: s", "To: x", ".", "body"],
            absent: ["secret@example.org", "other@example.org"]
        ),
        .init(
            testDescription: "lines that end with CR LF",
            arguments: ["root"],
            input: "Subject: s\r\n\r\nbody\r\n.\r\nnot read\r\n",
            lines: ["Subject: s\r", "body\r"],
            absent: ["not read"]
        ),
        .init(
            testDescription: "a sender that would write a head of its own",
            arguments: ["-f", "a@b\nX-Tocsin-Action: resolve", "-i"],
            input: "Subject: s\n\nbody\n",
            lines: ["From: a@bX-Tocsin-Action: resolve"],
            absent: ["\nX-Tocsin-Action"]
        ),
    ]
}

@Suite("tocsin sendmail", .timeLimit(.minutes(5)))
struct SendmailTests {
    @Test("real mails arrive whole, with an id against repeats, a date and a sender", arguments: MailCase.all)
    func mails(each: MailCase) async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 202 }
            let result = try await host.tocsin(
                ["sendmail", "--spool", host.spool] + each.arguments,
                port: server.port,
                input: each.input
            )
            #expect(result == (0, "", ""))
            let request = try #require(server.requests("/in/mail").first)
            #expect(request.headers["content-type"] == "message/rfc822")
            #expect(request.headers["authorization"] == "Bearer \(HostScene.key)")
            let mail = try #require(server.mails.first)
            let lines = mail.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            for line in each.lines { #expect(lines.contains(line), "\(line) in \(mail)") }
            for text in each.absent { #expect(!mail.contains(text), "\(text) in \(mail)") }
            for name in ["From:", "Date:", "Message-ID:"] { #expect(lines.count { $0.hasPrefix(name) } == 1) }
        }
    }

    @Test("under the name sendmail the program is sendmail; away, the mail waits")
    func byName() async throws {
        try await HostScene.run { host in
            let link = host.folder + "/sendmail"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: try TestBinary.path())
            let arguments = ["--spool=\(host.spool)", "-t", "-i"]
            let away = try await host.tocsin(
                arguments,
                port: try HostScene.closedPort(),
                input: "Subject: one\n\n1\n",
                program: link
            )
            #expect(away.status == 0)
            #expect(host.waiting().count == 1)
            let server = try Receiver { _, _ in 202 }
            let sent = try await host.tocsin(arguments, port: server.port, input: "Subject: two\n\n2\n", program: link)
            #expect(sent.status == 0)
            // Where the machine is busy, the one that waits may be due by then, too.
            #expect(server.mails.count { $0.contains("Subject: two") } == 1, "\(server.mails)")
        }
    }

    @Test("of a mail beyond 1 MiB the beginning is sent, with a note, and the writer is read to its end")
    func large() async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 202 }
            let input = "Subject: large\n\n" + String(repeating: "0123456789abcde\n", count: 200_000)
            let result = try await host.tocsin(["sendmail", "--spool", host.spool], port: server.port, input: input)
            #expect(result == (0, "", ""))
            let mail = try #require(server.mails.first)
            #expect(mail.utf8.count <= 1 << 20 && mail.utf8.count > 1_000_000)
            #expect(mail.contains("X-Tocsin-Cut:"))
            #expect(mail.hasSuffix("[The mail was longer than 1 MiB and is cut here.]\n"))
        }
    }

    @Test("without variables, as under cron, server and key come from the file of the host")
    func hostFile() async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 202 }
            let file = host.folder + "/tocsin-host"
            let address = "http://127.0.0.1:\(server.port)"
            let text = "# The host's own.\nTOCSIN_URL=\"\(address)\"\nTOCSIN_KEY_FILE=\(host.keyFile)\n"
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let result = try await TestBinary.run(
                ["sendmail", "--spool", host.spool, "root"],
                with: ["TOCSIN_HOST_FILE": file],
                folder: host.folder
            )
            #expect(result == (0, "", ""))
            #expect(server.requests("/in/mail").first?.headers["authorization"] == "Bearer \(HostScene.key)")
        }
    }

    @Test("what is no text reaches the server byte by byte")
    func bytes() async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 202 }
            let body: [UInt8] = [0xFF, 0xFE, 0x00, 0x0A, 0xC3]
            let path = host.folder + "/mail"
            try Data(Array("Subject: s\n\n".utf8) + body).write(to: URL(fileURLWithPath: path))
            let process = try ChildProcess(
                try TestBinary.path(),
                [
                    "sendmail", "--spool", host.spool, "--key-file", host.keyFile, "--server",
                    "http://127.0.0.1:\(server.port)",
                ],
                environment: TestBinary.environment,
                folder: host.folder,
                inputPath: path
            )
            #expect(try await process.untilExit() == 0)
            let request = try #require(server.requests("/in/mail").first)
            #expect(request.body.suffix(body.count) == body[...])
        }
    }
}
