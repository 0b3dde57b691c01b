import ArgumentParser
import FoundationEssentials
import Glibc

/// `tocsin sendmail`: takes the place of `/usr/sbin/sendmail` on hosts whose mail nobody reads.
struct SendmailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sendmail",
        abstract: "Read a mail as /usr/sbin/sendmail does, and send it to an integration.",
        discussion: """
            For cron, smartd, mdadm, unattended-upgrades and others that call sendmail. The program does the same \
            under the name sendmail: ln -s /usr/bin/tocsin /usr/sbin/sendmail. The integration is of kind MAIL. The \
            mail waits in the spool where it cannot be sent, as with `tocsin event`. Of a mail beyond 1 MiB the \
            beginning is sent, with a note.

            OPTIONS AS OF SENDMAIL
              -t          recipients are in the head of the mail; every mail goes to the integration
              -i, -oi     a line with a dot alone does not end the mail
              -f ADDRESS  the sender, where the mail has no From; also -r
              -F NAME     the sender's name
              -bm         read a mail, as always; other modes fail
              others      are read and change nothing

            OPTIONS OF ITS OWN
              as with `tocsin event`: --key-file FILE, --server URL, --spool FOLDER, --ca-file FILE

            EXAMPLE
              printf 'Subject: Disk full\\n\\nsda1: 95 %%\\n' | tocsin sendmail -i root

            ENVIRONMENT
              TOCSIN_URL       the server's address
              TOCSIN_KEY_FILE  the file with the integration's key; /etc/tocsin/mail.key by default

            FILES
              /etc/default/tocsin-host  variables for the whole host, where the environment has none, as under cron

            EXIT STATUS
              0 sent, or waiting on the disk; 1 neither, or refused; 2 wrong use
            """
    )

    @Argument(parsing: .captureForPassthrough, help: "Options and addresses.")
    var words: [String] = []

    /// The arguments of a run: under the name sendmail those of this command.
    static func arguments(of commandLine: [String]) -> [String] {
        let name = commandLine.first?.split(separator: "/").last
        return (name == "sendmail" ? ["sendmail"] : []) + commandLine.dropFirst()
    }

    func run() async throws {
        let arguments = try SendmailArguments(words)
        guard !arguments.asksForHelp else { return Terminal.print(Tocsin.helpMessage(for: Self.self)) }
        let input = try HostInput.read(maximumBytes: HostMail.maximumInputBytes)
        let mail = HostMail(input.bytes, isCut: input.isCut, arguments: arguments)
        let settings = arguments.settings
        let entry = settings.entry(
            path: "/in/mail",
            contentType: "message/rfc822",
            body: mail.bytes(at: HostClock.now, from: .current)
        )
        try await HostPost(settings: settings).deliver(entry)
    }
}
