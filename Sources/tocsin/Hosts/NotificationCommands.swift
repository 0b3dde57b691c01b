import ArgumentParser
import FoundationEssentials

/// `tocsin event nagios`: a notification command of Nagios and its kin.
struct NagiosCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nagios",
        abstract: "Send the event of a Nagios notification, from the environment.",
        discussion: """
            Nagios sets the variables where enable_environment_macros=1; else the command sets them itself. The key is \
            host or host/service. PROBLEM triggers, RECOVERY resolves, ACKNOWLEDGEMENT acknowledges; FLAPPING, DOWNTIME \
            and CUSTOM notifications are plain messages. DOWN and CRITICAL have priority 5, UNREACHABLE and UNKNOWN 4, \
            WARNING 3.

            EXAMPLE
              define command {
                command_name notify-by-tocsin
                command_line /usr/bin/tocsin event nagios
              }

            ENVIRONMENT
              NAGIOS_NOTIFICATIONTYPE, NAGIOS_HOSTNAME and NAGIOS_SERVICEDESC say what it is about;
              NAGIOS_HOSTSTATE, NAGIOS_SERVICESTATE, NAGIOS_HOSTOUTPUT, NAGIOS_SERVICEOUTPUT,
              NAGIOS_LONGHOSTOUTPUT, NAGIOS_LONGSERVICEOUTPUT, NAGIOS_HOSTADDRESS,
              NAGIOS_NOTIFICATIONAUTHOR, NAGIOS_NOTIFICATIONCOMMENT, NAGIOS_HOSTNOTESURL and
              NAGIOS_SERVICENOTESURL are used where they are set
            """
    )

    @OptionGroup var host: HostOptions

    func run() async throws {
        let notice = try MonitoringNotice(ProcessInfo.processInfo.environment, prefix: "NAGIOS_")
        try await notice.event.deliver(host.settings)
    }
}

/// `tocsin event icinga`: a notification command of Icinga 2.
struct IcingaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "icinga",
        abstract: "Send the event of an Icinga notification, from the environment.",
        discussion: """
            The NotificationCommand sets the variables in its env. Keys, actions and priorities are those of `tocsin \
            event nagios`.

            EXAMPLE
              object NotificationCommand "tocsin-service" {
                command = [ "/usr/bin/tocsin", "event", "icinga" ]
                env = {
                  NOTIFICATIONTYPE = "$notification.type$"
                  HOSTNAME = "$host.name$"
                  SERVICEDESC = "$service.name$"
                  SERVICESTATE = "$service.state$"
                  SERVICEOUTPUT = "$service.output$"
                }
              }

            ENVIRONMENT
              NOTIFICATIONTYPE, HOSTNAME (or HOSTALIAS) and SERVICEDESC say what it is about; HOSTSTATE,
              SERVICESTATE, HOSTOUTPUT, SERVICEOUTPUT, HOSTADDRESS, NOTIFICATIONAUTHORNAME,
              NOTIFICATIONCOMMENT, HOSTNOTESURL and SERVICENOTESURL are used where they are set
            """
    )

    @OptionGroup var host: HostOptions

    func run() async throws {
        let notice = try MonitoringNotice(ProcessInfo.processInfo.environment, prefix: "")
        try await notice.event.deliver(host.settings)
    }
}
