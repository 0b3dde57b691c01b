/// What the control address does, for its first page and for `--help`.
package enum ControlHelp {
    /// A request a line, and under it what it does.
    package static let text = """
        GET  /_stats
               counts: requests, accepted, refused by reason, doubles, streams
        GET  /_pushes?since=N&limit=N
               the pushes kept, each with headers, payload and answer
        GET  /_screens
               all phones: how many show 1 notification, 2, …; alerts, replaced
        GET  /_screen?token=T
               one phone: what it shows, and what is kept for it
        POST /_phone?token=T&state=S
               takes it off the net (offline) or brings it back (online)
        GET  /_script
               the rules in force, and how many pushes met them
        POST /_script
               a script, as JSON; its rules replace those before
        POST /_outage?provider=P&kind=K
               an outage of apns, fcm, token or webpush; &seconds=N ends it, kind=none too
        POST /_connections?provider=P&do=D
               goaway (&reason=R&lastStream=N) or cut, on all open connections
        POST /_subscribe?script=S
               a browser subscribes; with a script, such as gone, its pushes meet a fault
        GET  /_browser
               the socket of a real Firefox: dom.push.serverURL is ws://HOST:PORT/_browser
        POST /_expire
               ends all access tokens: FCM answers 401 to them
        POST /_reset
               forgets pushes and screens, ends outages, back to the first script

        """
}
