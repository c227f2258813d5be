package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"portcullis.dev/portcullis"
)

// How many units are proposed for one that is not known.
const proposals = 3

// find returns the unit of a symbol or a name. A symbol is sought as it is written, since MB is not Mb; a name in any
// case, and in the plural too.
func find(word string) (unit, error) {
	word = strings.TrimSpace(word)
	if unit, found := match(func(unit unit) bool { return slices.Contains(unit.words(), word) }); found {
		return unit, nil
	}
	for _, name := range []string{word, strings.TrimSuffix(strings.ToLower(word), "s")} {
		isName := func(known string) bool { return strings.EqualFold(known, name) }
		if unit, found := match(func(unit unit) bool { return slices.ContainsFunc(unit.names, isName) }); found {
			return unit, nil
		}
	}
	return unit{}, portcullis.InvalidArguments(fmt.Sprintf(
		"there is no unit %q; near it are %s, and the tool list has all", word, strings.Join(near(word), ", "),
	))
}

func match(is func(unit) bool) (unit, bool) {
	index := slices.IndexFunc(units, is)
	if index < 0 {
		return unit{}, false
	}
	return units[index], true
}

// near returns the words of the units that take the fewest changes to become a word, whatever the case of its letters.
func near(word string) []string {
	type candidate struct {
		word  string
		steps int
	}
	var candidates []candidate
	for _, unit := range units {
		best := slices.MinFunc(unit.words(), func(one, other string) int {
			return cmp.Compare(distance(word, one), distance(word, other))
		})
		candidates = append(candidates, candidate{best, distance(word, best)})
	}
	slices.SortStableFunc(candidates, func(one, other candidate) int { return cmp.Compare(one.steps, other.steps) })
	var words []string
	for _, candidate := range candidates[:proposals] {
		words = append(words, candidate.word)
	}
	return words
}

// distance is that of Levenshtein: how many letters are put in, left out or exchanged.
func distance(from, to string) int {
	source, target := []rune(strings.ToLower(from)), []rune(strings.ToLower(to))
	row := make([]int, len(target)+1)
	for column := range row {
		row[column] = column
	}
	for line, letter := range source {
		diagonal := row[0]
		row[0] = line + 1
		for column, other := range target {
			change := diagonal
			if letter != other {
				change++
			}
			diagonal = row[column+1]
			row[column+1] = min(change, row[column]+1, row[column+1]+1)
		}
	}
	return row[len(target)]
}
