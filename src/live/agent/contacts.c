/* contacts.c: how an agent reaches the others that it has to do with. */
#include "live/agent/contacts.h"

#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/textmap.h"
#include "lang/text/build.h"
#include "live/http/represent.h"
#include "sys/encoding.h"
#include "sys/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void contacts_init(struct contacts *contacts, struct shelf *shelf, uint64_t seed)
{
    *contacts = (struct contacts){.shelf = shelf, .space = CONTACT_SPACE};
    map_init(&contacts->handles, seed);
}

void contacts_set_space(struct contacts *contacts, const char *space,
                        uint64_t (*enter)(const void *user, uint64_t agent), const void *user)
{
    snprintf(contacts->space, sizeof contacts->space, "%s", space);
    contacts->enter = enter;
    contacts->user = user;
}

static uint64_t contact_handle(const struct contacts *contacts, const struct contact *contact)
{
    return contacts->enter ? contacts->enter(contacts->user, contact->agent) : contact->agent;
}

static void contact_clear(struct contact *contact)
{
    free(contact->identity);
    free(contact->name);
    free(contact->address);
    free(contact->pin);
    free(contact->bearer);
    *contact = (struct contact){0};
}

void contacts_done(struct contacts *contacts)
{
    if (!contacts)
        return;
    for (uint32_t i = 0; i < contacts->count; i++)
        contact_clear(&contacts->items[i]);
    free(contacts->items);
    map_done(&contacts->handles);
}

struct contact *contacts_find(struct contacts *contacts, uint64_t handle)
{
    uint64_t found = map_find(&contacts->handles, handle);

    return found == MAP_NONE ? NULL : &contacts->items[found];
}

/* Copies a text attribute; NULL when the ad has none. */
static char *text_dup(const struct tree *ad, const char *name)
{
    const char *text;
    size_t len;

    if (!ad_string(ad, name, &text, &len) || !len || len > CONTACT_TEXT_MAX || memchr(text, 0, len))
        return NULL;
    return mem_dup(text, len);
}

/* Reads a contact; false when the ad does not tell of an agent. */
static bool contact_read(const struct tree *ad, struct contact *ret)
{
    const char *text;
    size_t len;

    *ret = (struct contact){.identity = text_dup(ad, "Identity"),
                            .name = text_dup(ad, "Name"),
                            .address = text_dup(ad, "Contact"),
                            .pin = text_dup(ad, "Pin")};
    if (!ret->name)
        ret->name = mem_dup("", 0);
    ret->has_box = ad_string(ad, "BoxKey", &text, &len) && hex_read(text, len, ret->box.bytes, BOX_KEY_BYTES);
    /* The handle follows from who it is: nobody can be given another's. */
    if (ret->identity)
        ret->agent = agent_handle(ret->identity, ret->name);
    if (ret->agent && ad_string(ad, "Agent", &text, &len) && len == 16 && id_number(text, len) == ret->agent)
        return true;
    contact_clear(ret);
    return false;
}

static bool text_same(const char *a, const char *b)
{
    return (!a && !b) || (a && b && !strcmp(a, b));
}

static bool contact_same(const struct contact *a, const struct contact *b)
{
    return text_same(a->address, b->address) && text_same(a->pin, b->pin) && a->has_box == b->has_box &&
           (!a->has_box || !memcmp(&a->box, &b->box, sizeof a->box));
}

/* Keeps a contact, and takes what it holds. False when it says nothing new. */
static bool contact_keep(struct contacts *contacts, struct contact *contact)
{
    struct contact *old = contacts_find(contacts, contact_handle(contacts, contact));

    if ((old && contact_same(old, contact)) || (!old && contacts->count == CONTACTS_MAX)) {
        contact_clear(contact);
        return false;
    }
    if (old) {
        contact_clear(old);
        *old = *contact;
        return true;
    }
    ARRAY_ROOM(contacts->items, contacts->count, contacts->room, 16);
    map_set(&contacts->handles, contact_handle(contacts, contact), contacts->count);
    contacts->items[contacts->count++] = *contact;
    return true;
}

bool contacts_take(struct contacts *contacts, const struct tree *ad, const struct expr *e)
{
    struct contact contact;
    struct build build;
    struct tree *one;
    struct buf text;
    struct err err;
    char key[17];
    bool kept = false;

    if (e->kind != EXPR_AD)
        return false;
    build_init(&build, ad->symbols, ad->dialect);
    build_copy(&build, ad, e);
    one = build_seal(&build);
    build_done(&build);
    if (contact_read(one, &contact)) {
        uint64_t agent_number = contact.agent;

        if (contact_keep(contacts, &contact)) {
            unsigned char bytes[8];

            for (int i = 0; i < 8; i++)
                bytes[i] = (unsigned char)(agent_number >> (56 - 8 * i));
            hex_print(bytes, 8, key);
            buf_init(&text);
            represent_ad(&text, FORM_CLASSAD, one);
            kept =
                contacts->shelf->kind->put(contacts->shelf, contacts->space, key, 16, text.text, text.len, &err) == 0;
            buf_done(&text);
        }
    }
    tree_unref(one);
    return kept;
}

struct contacts_loading {
    struct contacts *contacts;
    struct symbols *symbols;
};

static bool contact_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct contacts_loading *loading = user;
    struct contact contact;
    struct tree *ad;
    struct err err;

    (void)key;
    (void)key_len;
    ad = form_parse(loading->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);
    if (ad && contact_read(ad, &contact))
        contact_keep(loading->contacts, &contact);
    tree_unref(ad);
    return true;
}

int contacts_load(struct contacts *contacts, struct symbols *symbols, struct err *err)
{
    struct contacts_loading loading = {contacts, symbols};

    return contacts->shelf->kind->each(contacts->shelf, contacts->space, contact_row, &loading, err);
}

uint64_t contact_channel(const char *pin, const char *address)
{
    const char *text = pin ? pin : address ? address : "";

    return text_hash(1, text, strlen(text));
}

uint64_t contact_relay_channel(const struct box_public *a, const struct box_public *b)
{
    bool first = memcmp(a->bytes, b->bytes, BOX_KEY_BYTES) < 0;
    char both[2 * BOX_KEY_BYTES];

    memcpy(both, first ? a->bytes : b->bytes, BOX_KEY_BYTES);
    memcpy(both + BOX_KEY_BYTES, first ? b->bytes : a->bytes, BOX_KEY_BYTES);
    return text_hash(2, both, sizeof both);
}
