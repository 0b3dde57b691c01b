package import TocsinCore

/// Makes ordinary outgoing calls with libcurl: HTTP/1.1, TLS verified, no redirects,
/// bounded in time and size.
///
/// All calls are carried by one thread of their own, at the same time; a call whose task
/// is cancelled is given up. A proxy is used only where the usual variables
/// (`https_proxy`, `no_proxy`…) name one.
package final class CurlClient: OutgoingHTTP {
    private let loop: CurlLoop

    /// Starts the thread.
    ///
    /// `caFile` names a PEM file of certificate authorities that are trusted too, for tests and
    /// companies with their own.
    package init(caFile: String? = nil) {
        loop = CurlLoop(caFile: caFile)
        loop.start()
    }

    deinit {
        loop.stop()
    }

    /// Makes the call on the client's thread; cancelling the task gives it up.
    package func send(_ request: OutgoingRequest) async -> OutgoingAnswer {
        let transfer = CurlTransfer(request)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                transfer.whenDone { continuation.resume(returning: $0) }
                loop.submit(transfer)
            }
        } onCancel: {
            loop.cancel(transfer)
        }
    }

    /// Ends the thread; calls under way and later ones fail.
    package func stop() {
        loop.stop()
    }
}
