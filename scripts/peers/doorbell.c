// How many rings a second a doorbell carries between so many nodes: what the server does, without the server.
//
// doorbell postgres CONNINFO NODES SECONDS: each node has one connection that listens and notifies, with one NOTIFY under
// way at a time; all ring as fast as they can. doorbell nats URLS NODES SECONDS: the same over NATS, each node with at most
// 64 rings that the server has not confirmed. Prints rings sent and heard a second.
#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef WITH_NATS
#include <nats/nats.h>
#include <pthread.h>
#include <unistd.h>
#endif

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void report(const char *carrier, int nodes, long sent, long heard, double seconds) {
    printf("%s\t%d nodes\t%.0f rings/s sent\t%.0f rings/s heard\n", carrier, nodes, sent / seconds, heard / seconds);
}

static int postgres(const char *conninfo, int nodes, double seconds) {
    PGconn **lines = calloc(nodes, sizeof *lines);
    struct pollfd *polled = calloc(nodes, sizeof *polled);
    long sent = 0, heard = 0;
    for (int node = 0; node < nodes; node++) {
        lines[node] = PQconnectdb(conninfo);
        if (PQstatus(lines[node]) != CONNECTION_OK) {
            fprintf(stderr, "%s", PQerrorMessage(lines[node]));
            return 1;
        }
        PQclear(PQexec(lines[node], "LISTEN tocsin"));
        PQsetnonblocking(lines[node], 1);
        polled[node].fd = PQsocket(lines[node]);
        polled[node].events = POLLIN;
        PQsendQuery(lines[node], "NOTIFY tocsin, 'a-node-of-a-usual-name-0123abcd'");
        PQflush(lines[node]);
    }
    double start = now(), end = start + seconds;
    while (now() < end) {
        poll(polled, nodes, 100);
        for (int node = 0; node < nodes; node++) {
            if (!polled[node].revents) continue;
            if (!PQconsumeInput(lines[node])) return 1;
            PGnotify *notice;
            while ((notice = PQnotifies(lines[node]))) {
                if (notice->be_pid != PQbackendPID(lines[node])) heard++;
                PQfreemem(notice);
            }
            int isDone = 0;
            while (!isDone && !PQisBusy(lines[node])) {
                PGresult *result = PQgetResult(lines[node]);
                if (!result) isDone = 1;
                PQclear(result);
            }
            if (isDone) {
                sent++;
                PQsendQuery(lines[node], "NOTIFY tocsin, 'a-node-of-a-usual-name-0123abcd'");
                PQflush(lines[node]);
            }
        }
    }
    report("postgres", nodes, sent, heard, now() - start);
    return 0;
}

#ifdef WITH_NATS
static long heardByAll = 0, sentByAll = 0;
static volatile int isOver = 0;

static void hear(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *closure) {
    (void)connection, (void)subscription, (void)closure;
    natsMsg_Destroy(message);
    __atomic_fetch_add(&heardByAll, 1, __ATOMIC_RELAXED);
}

static void *ring(void *connection) {
    while (!isOver) {
        for (int index = 0; index < 64; index++) {
            natsConnection_PublishString(connection, "tocsin.doorbell", "a-node-of-a-usual-name-0123abcd");
        }
        if (natsConnection_FlushTimeout(connection, 5000) != NATS_OK) return NULL;
        __atomic_fetch_add(&sentByAll, 64, __ATOMIC_RELAXED);
    }
    return NULL;
}

static int nats(const char *urls, int nodes, double seconds) {
    pthread_t *threads = calloc(nodes, sizeof *threads);
    natsConnection **lines = calloc(nodes, sizeof *lines);
    for (int node = 0; node < nodes; node++) {
        natsOptions *options;
        natsSubscription *subscription;
        natsOptions_Create(&options);
        natsOptions_SetURL(options, urls);
        natsOptions_SetNoEcho(options, true);
        natsStatus status = natsConnection_Connect(&lines[node], options);
        if (status == NATS_OK) status = natsConnection_Subscribe(&subscription, lines[node], "tocsin.doorbell", hear, NULL);
        if (status != NATS_OK) {
            fprintf(stderr, "%s\n", natsStatus_GetText(status));
            return 1;
        }
    }
    double start = now();
    for (int node = 0; node < nodes; node++) pthread_create(&threads[node], NULL, ring, lines[node]);
    usleep((unsigned)(seconds * 1e6));
    isOver = 1;
    double time = now() - start;
    report("nats", nodes, sentByAll, heardByAll, time);
    for (int node = 0; node < nodes; node++) pthread_join(threads[node], NULL);
    return 0;
}
#endif

int main(int count, char **arguments) {
    if (count != 5) return 2;
    int nodes = atoi(arguments[3]);
    double seconds = atof(arguments[4]);
    if (!strcmp(arguments[1], "postgres")) return postgres(arguments[2], nodes, seconds);
#ifdef WITH_NATS
    if (!strcmp(arguments[1], "nats")) return nats(arguments[2], nodes, seconds);
#endif
    return 2;
}
